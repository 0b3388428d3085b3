// Calculator for number_arithmetic_test.py: reads lines "a + b" and "a - b", and answers each with a line that holds
// the result in plain digits or the text of the error.

#include <iostream>
#include <string>

#include "storage/model/number.h"

namespace {

using armature::model::Number;

absl::StatusOr<Number> Compute(const std::string& left, char sign, const std::string& right) {
  const absl::StatusOr<Number> a = Number::Parse(left);
  if (!a.ok()) return a.status();
  const absl::StatusOr<Number> b = Number::Parse(right);
  if (!b.ok()) return b.status();
  return sign == '+' ? armature::model::Add(*a, *b) : armature::model::Subtract(*a, *b);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string left;
  std::string right;
  char sign = '+';
  while (std::cin >> left >> sign >> right) {
    const absl::StatusOr<Number> result = Compute(left, sign, right);
    std::cout << (result.ok() ? result->ToString() : std::string(result.status().message())) << '\n';
  }
  return 0;
}
