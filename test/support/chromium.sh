#!/bin/sh
# Runs $CHROMIUM without the pages that it loads for the address bar of each window: they cost more than ours.
# Chromium obeys the last --disable-features only, and Playwright passes one.
for arg do
  shift
  case $arg in --disable-features=*) arg=$arg,WebUIOmniboxPopup,WebUIOmniboxAimPopup ;; esac
  set -- "$@" "$arg"
done
exec "$CHROMIUM" "$@"
