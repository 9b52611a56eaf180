"""Runs one module of tests and writes a line of JSON for each: for the runner of the project."""

import json
import sys
import time
import unittest


class Lines(unittest.TestResult):
    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._begun = time.monotonic()
        self._problem = ""

    def addError(self, test, err):
        super().addError(test, err)
        # What fails outside a test, such as an import.
        if not hasattr(self, "_problem") or not isinstance(test, unittest.TestCase) or self.testsRun == 0:
            self._write(test.id(), self.errors[-1][1])
        self._problem = self.errors[-1][1]

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._problem = self.failures[-1][1]

    def addSkip(self, test, reason):
        self._problem = f"skipped: {reason}"

    def stopTest(self, test: unittest.TestCase) -> None:
        self._write(test.id(), self._problem)

    def _write(self, name: str, problem: str) -> None:
        print(json.dumps({"name": name, "problem": problem}), flush=True)


unittest.defaultTestLoader.loadTestsFromName(sys.argv[1]).run(Lines())
