#!/usr/bin/python3
"""Style and changes of the protos: proto/STYLE.md.

    protos_test.py             the tests
    protos_test.py --record    adds new names, numbers and types to released.txt; refuses changes that break something
"""

import pathlib
import shutil
import sys
import tempfile
import unittest

from changes import breaking_changes, compiled, lines_of
from style import style_findings

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = pathlib.Path(__file__).resolve().parent / "released.txt"
DISK = "storage/store/records"


def current_lines():
    return lines_of(compiled(ROOT / "proto", "armature")) + lines_of(compiled(ROOT, DISK))


def recorded_lines():
    return RECORD.read_text().splitlines() if RECORD.is_file() else []


class RecordTest(unittest.TestCase):
    maxDiff = None

    def test_no_change_breaks_programs_or_records(self):
        findings = breaking_changes(recorded_lines(), current_lines())
        self.assertFalse(findings, "\n".join(["", *findings, "proto/STYLE.md says which changes are allowed"]))

    def test_new_names_are_recorded(self):
        new = sorted(set(current_lines()) - set(recorded_lines()))
        self.assertFalse(new, "\n".join(["", *new, "run tests/protos/protos_test.py --record"]))


class StyleTest(unittest.TestCase):
    maxDiff = None

    def test_public_protos_follow_the_style(self):
        findings = [each for file in compiled(ROOT / "proto", "armature").file for each in style_findings(file)]
        self.assertFalse(findings, "\n" + "\n".join(findings))

    def test_records_are_not_among_the_protos_that_users_compile(self):
        packages = {file.package for file in compiled(ROOT / "proto", "armature").file}
        self.assertEqual(packages, {"armature.api.v1", "armature.admin.v1", "armature.options.v1"})


class EditedProtos(unittest.TestCase):
    """Copies of the protos with an edit."""

    def edited(self, file, old, new):
        """Descriptors of the public protos after `old` in `file` became `new`."""
        directory = tempfile.TemporaryDirectory(prefix="armature_protos_")
        self.addCleanup(directory.cleanup)
        root = pathlib.Path(directory.name)
        shutil.copytree(ROOT / "proto/armature", root / "armature")
        path = root / "armature" / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))
        return compiled(root, "armature")

    def changes(self, file, old, new):
        before = lines_of(compiled(ROOT / "proto", "armature"))
        return breaking_changes(before, lines_of(self.edited(file, old, new)))

    def findings(self, file, old, new):
        return [each for proto in self.edited(file, old, new).file for each in style_findings(proto)]


class ChangesTest(EditedProtos):
    KEY = "// Exactly the key attributes of the table.\n  Item key = 2;"

    def test_a_renumbered_field_is_found(self):
        found = self.changes("api/v1/items.proto", self.KEY, self.KEY.replace("= 2", "= 20"))
        self.assertEqual(len(found), 1)
        self.assertIn("field armature.api.v1.GetItemRequest 2 key", found[0])

    def test_a_retyped_field_is_found(self):
        found = self.changes("api/v1/items.proto", self.KEY, self.KEY.replace("Item key", "AttributeValue key"))
        self.assertEqual(len(found), 1)
        self.assertIn("is 'key armature.api.v1.AttributeValue'", found[0])

    def test_a_field_that_becomes_repeated_or_optional_is_found(self):
        self.assertTrue(self.changes("api/v1/items.proto", self.KEY, self.KEY.replace("Item key", "repeated Item key")))
        self.assertTrue(self.changes("api/v1/errors.proto", "int64 retry_after_ms", "optional int64 retry_after_ms"))

    def test_a_map_with_other_values_is_found(self):
        name = "map<string, Condition> scan_filter"
        self.assertTrue(self.changes("api/v1/items.proto", name, name.replace("Condition", "AttributeValue")))

    def test_a_removed_field_must_be_reserved_by_number_and_name(self):
        field = "int64 retry_after_ms = 6;"
        for instead in ("", "reserved 6;", 'reserved "retry_after_ms";'):
            self.assertTrue(self.changes("api/v1/errors.proto", field, instead), instead)
        self.assertEqual(self.changes("api/v1/errors.proto", field, 'reserved 6; reserved "retry_after_ms";'), [])

    def test_a_renamed_field_is_found(self):
        self.assertTrue(self.changes("api/v1/errors.proto", "int64 retry_after_ms", "int64 retry_after"))

    def test_a_renamed_or_renumbered_enum_value_is_found(self):
        value = "KEY_TYPE_HASH = 1;"
        self.assertTrue(self.changes("api/v1/types.proto", value, "KEY_TYPE_PARTITION = 1;"))
        self.assertTrue(self.changes("api/v1/types.proto", value, "KEY_TYPE_HASH = 7;"))

    def test_a_removed_call_is_found_unless_it_is_for_administrators(self):
        self.assertTrue(self.changes("api/v1/service.proto", "rpc PutItem(", "rpc Put("))
        self.assertEqual(self.changes("admin/v1/admin.proto", "rpc GetBackupJob(", "rpc GetJob("), [])

    def test_a_changed_call_is_found(self):
        self.assertTrue(self.changes("api/v1/service.proto", "returns (stream WatchResponse)", "returns (WatchResponse)"))

    def test_a_freed_number_is_found(self):
        self.assertTrue(self.changes("api/v1/items.proto", "reserved 10, 11;", "reserved 10;"))

    def test_another_package_of_generated_code_is_found(self):
        self.assertTrue(self.changes("api/v1/items.proto", "client/go/apiv1", "client/go/api"))

    def test_new_fields_values_and_calls_are_allowed(self):
        self.assertEqual(self.changes("api/v1/items.proto", self.KEY, self.KEY + "\n  string note = 99;"), [])
        value = "KEY_TYPE_HASH = 1;"
        self.assertEqual(self.changes("api/v1/types.proto", value, value + "\n  KEY_TYPE_OTHER = 9;"), [])
        call = "rpc PutItem(PutItemRequest)"
        added = f"rpc Put(PutItemRequest) returns (PutItemResponse);\n  {call}"
        self.assertEqual(self.changes("api/v1/service.proto", call, added), [])

    def test_a_renumbered_record_is_found(self):
        lines = lines_of(compiled(ROOT, DISK))
        line = "field armature.disk.v1.TableRecord 1 id uint32"
        self.assertIn(line, lines)
        new = [each.replace(" 1 id", " 99 id") if each == line else each for each in lines]
        self.assertEqual(len(breaking_changes(lines, new)), 1)


class StyleRulesTest(EditedProtos):
    def test_names_are_checked(self):
        self.assertTrue(self.findings("api/v1/types.proto", "message Tag {", "message Map {}\n// A tag.\nmessage Tag {"))
        self.assertTrue(self.findings("api/v1/types.proto", "message Tag {\n  string key", "message Tag {\n  string import"))
        self.assertTrue(self.findings("api/v1/types.proto", "KEY_TYPE_HASH", "HASH"))
        self.assertTrue(self.findings("api/v1/types.proto", "KEY_TYPE_UNSPECIFIED", "KEY_TYPE_ZERO"))

    def test_options_are_checked(self):
        self.assertTrue(self.findings("admin/v1/admin.proto", 'option java_package = "io.github.', 'option java_package = "'))
        self.assertTrue(self.findings("admin/v1/admin.proto", 'option go_package = "github.com/', 'option go_package = "'))

    def test_comments_are_checked(self):
        self.assertTrue(self.findings("api/v1/service.proto", "  // Deletes an item. A missing item is not an error.\n", ""))
        self.assertTrue(self.findings("api/v1/items.proto", "`[a-zA-Z0-9_.-]`", "[a-zA-Z0-9_.-]"))

    def test_a_required_text_is_not_optional(self):
        text = "string update_expression = 10;  // Required."
        self.assertTrue(self.findings("api/v1/items.proto", text, "optional " + text))

    def test_calls_have_messages_of_their_own(self):
        self.assertTrue(self.findings("api/v1/service.proto", "rpc PutItem(PutItemRequest)", "rpc PutItem(ScanRequest)"))


def record():
    findings = breaking_changes(recorded_lines(), current_lines())
    if findings:
        sys.exit("\n".join(["not recorded; proto/STYLE.md says which changes are allowed:", *findings]))
    RECORD.write_text("\n".join(current_lines()) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        record()
    else:
        unittest.main()
