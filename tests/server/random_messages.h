// Random protobuf messages, and the same message written another way.
#ifndef NORMD_TESTS_SERVER_RANDOM_MESSAGES_H_
#define NORMD_TESTS_SERVER_RANDOM_MESSAGES_H_

#include <random>
#include <string>

#include "google/protobuf/message.h"

namespace normd {

// Sets about half of the fields, nested ones too, to values that need not make sense. Repeated
// fields get up to 8 values.
void FillRandomly(google::protobuf::Message& message, std::mt19937& random);

// The message with its fields in any order, packed fields sometimes one by one, and fields that
// nobody knows in between: what the generated parser reads back as `message`.
std::string SerializeShuffled(const google::protobuf::Message& message, std::mt19937& random);

}  // namespace normd

#endif  // NORMD_TESTS_SERVER_RANDOM_MESSAGES_H_
