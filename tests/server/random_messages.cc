#include "tests/server/random_messages.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace normd {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

int64_t RandomInt(std::mt19937& random) {
  // Lengths of varints from 1 to 10 bytes.
  const auto bits = std::uniform_int_distribution<unsigned>(0, 63)(random);
  const auto value = static_cast<int64_t>((uint64_t{random()} << 32 | random()) >> bits);
  return random() % 8 == 0 ? -value : value;
}

std::string RandomBytes(std::mt19937& random) {
  std::string bytes(std::uniform_int_distribution<size_t>(0, 300)(random), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

void AddRepeated(pb::Message& message, const Field& field, std::mt19937& random) {
  const auto count = random() % 9;
  for (unsigned i = 0; i < count; ++i) {
    message.GetReflection()->AddInt64(&message, &field, RandomInt(random));
  }
}

void SetOne(pb::Message& message, const Field& field, std::mt19937& random) {
  const pb::Reflection& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case Field::CPPTYPE_INT64:
      return reflection.SetInt64(&message, &field, RandomInt(random));
    case Field::CPPTYPE_UINT64:
      return reflection.SetUInt64(&message, &field, static_cast<uint64_t>(RandomInt(random)));
    case Field::CPPTYPE_ENUM:
      return reflection.SetEnumValue(&message, &field, static_cast<int>(random() % 7) - 2);
    case Field::CPPTYPE_BOOL:
      return reflection.SetBool(&message, &field, random() % 2 == 0);
    case Field::CPPTYPE_FLOAT:
      return reflection.SetFloat(&message, &field,
                                 std::bit_cast<float>(static_cast<uint32_t>(random())));
    case Field::CPPTYPE_STRING:
      return reflection.SetString(&message, &field, RandomBytes(random));
    case Field::CPPTYPE_MESSAGE:
      return FillRandomly(*reflection.MutableMessage(&message, &field), random);
    default:
      std::abort();  // normd.v1 requests have no field of another type
  }
}

// A field with the number of no other: every wire type that is skipped.
std::string UnknownField(std::mt19937& random) {
  std::string bytes;
  pb::io::StringOutputStream stream(&bytes);
  pb::io::CodedOutputStream out(&stream);
  const uint32_t number = 100 + static_cast<uint32_t>(random() % 1000);
  switch (random() % 4) {
    case 0:
      out.WriteTag(number << 3 | 0);
      out.WriteVarint64(random());
      break;
    case 1:
      out.WriteTag(number << 3 | 1);
      out.WriteLittleEndian64(random());
      break;
    case 2: {
      const std::string value = RandomBytes(random);
      out.WriteTag(number << 3 | 2);
      out.WriteVarint32(static_cast<uint32_t>(value.size()));
      out.WriteString(value);
      break;
    }
    default:
      out.WriteTag(number << 3 | 5);
      out.WriteLittleEndian32(static_cast<uint32_t>(random()));
  }
  out.Trim();
  return bytes;
}

std::string LengthDelimited(int number, const std::string& value) {
  std::string bytes;
  pb::io::StringOutputStream stream(&bytes);
  pb::io::CodedOutputStream out(&stream);
  out.WriteTag(static_cast<uint32_t>(number) << 3 | 2);
  out.WriteVarint64(value.size());
  out.WriteString(value);
  out.Trim();
  return bytes;
}

std::string OneByOne(const pb::Message& message, const Field& field) {
  std::string bytes;
  pb::io::StringOutputStream stream(&bytes);
  pb::io::CodedOutputStream out(&stream);
  const pb::Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    out.WriteTag(static_cast<uint32_t>(field.number()) << 3 | 0);
    out.WriteVarint64(static_cast<uint64_t>(reflection.GetRepeatedInt64(message, &field, i)));
  }
  out.Trim();
  return bytes;
}

// One field of the message, by the generated serializer where it writes a whole field.
std::string FieldBytes(const pb::Message& message, const Field& field, std::mt19937& random) {
  const pb::Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == Field::CPPTYPE_MESSAGE) {
    return LengthDelimited(field.number(),
                           SerializeShuffled(reflection.GetMessage(message, &field), random));
  }
  if (field.is_repeated() && random() % 2 == 0) return OneByOne(message, field);
  const std::unique_ptr<pb::Message> alone(message.New());
  alone->CopyFrom(message);
  std::vector<const Field*> set;
  reflection.ListFields(message, &set);
  for (const Field* other : set) {
    if (other != &field) reflection.ClearField(alone.get(), other);
  }
  return alone->SerializeAsString();
}

}  // namespace

void FillRandomly(pb::Message& message, std::mt19937& random) {
  const pb::Descriptor& descriptor = *message.GetDescriptor();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const Field& field = *descriptor.field(i);
    if (random() % 2 == 0) continue;
    if (field.is_repeated()) {
      AddRepeated(message, field, random);
    } else {
      SetOne(message, field, random);
    }
  }
}

std::string SerializeShuffled(const pb::Message& message, std::mt19937& random) {
  std::vector<const Field*> set;
  message.GetReflection()->ListFields(message, &set);
  std::vector<std::string> parts;
  for (const Field* field : set) parts.push_back(FieldBytes(message, *field, random));
  for (auto unknown = random() % 3; unknown > 0; --unknown) parts.push_back(UnknownField(random));
  std::shuffle(parts.begin(), parts.end(), random);
  std::string bytes;
  for (const std::string& part : parts) bytes += part;
  return bytes;
}

}  // namespace normd
