"""Runs one module of tests for the runner of the project, and writes a line of JSON per test."""

import faulthandler
import json
import logging
import sys
import unittest


class Lines(unittest.TestResult):
    _problem = ""

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._problem = ""

    def addError(self, test, err):
        super().addError(test, err)
        self._problem = self.errors[-1][1]
        # A failure outside of a test, such as in setUpClass, never reaches stopTest.
        if not isinstance(test, unittest.TestCase):
            self._write(test.id(), self._problem)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._problem = self.failures[-1][1]

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._problem = f"{subtest}: {err[1]!r}"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._problem = f"skipped: {reason}"

    def stopTest(self, test: unittest.TestCase) -> None:
        self._write(test.id(), self._problem)

    def _write(self, name: str, problem: str) -> None:
        print(json.dumps({"name": name, "problem": problem}), flush=True)


# A test that hangs prints its stack.
faulthandler.dump_traceback_later(600, exit=True)
# Without warnings for steps of over 100 ms, which a busy machine causes. Unhandled errors are still shown.
logging.getLogger("asyncio").setLevel(logging.ERROR)
unittest.defaultTestLoader.loadTestsFromName(sys.argv[1]).run(Lines())
