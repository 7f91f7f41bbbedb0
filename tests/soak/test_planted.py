"""Each planted fault still applies to the tree: the build and the verdict are seen at a longer run."""

import pathlib
import tempfile
import unittest

import planted


class Planted(unittest.TestCase):
    def test_each_changes_a_copy_of_the_tree(self):
        self.assertEqual(planted.PLANTS, ["descriptor", "drift", "heap", "stall"])
        for name in planted.PLANTS:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                tree = planted.planted_tree(name, folder)
                changed = [path for path in sorted((planted.ROOT / "runtime").rglob("*")) if path.is_file() and
                           path.read_bytes() != (tree.copy / path.relative_to(planted.ROOT)).read_bytes()]
                self.assertEqual(len(changed), 1, pathlib.Path(tree.log.name).read_text())
                tree.log.close()


if __name__ == "__main__":
    unittest.main()
