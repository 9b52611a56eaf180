export const login = {
  documentTitle: 'Log in – File Transfer Gateway',
  email: 'E-mail',
  password: 'Password',
  logIn: 'Log in',
  whichPassword:
    'A start without a configuration prints a password once. With one, it is the password of your account there.',
  code: 'Code',
  codeHint: 'Six digits from your authenticator app, or one of your recovery codes.',
  confirm: 'Confirm',
  back: 'Back',
  failures: {
    lockedTitle: 'Too many failed attempts',
    locked: (minutes: number | undefined): string =>
      `Logging in is locked ${minutes === undefined ? 'for now' : `for another ${minutes} min`}. The right password does not lift the lock earlier.`,
    passwordTitle: 'E-mail or password is not right',
    password: 'Check both and try again. Five failures lock the login for 15 minutes.',
    codeTitle: 'The code is not right',
    code: 'Codes change every 30 seconds. Check that the clock of your phone is right.',
    other: 'This did not work',
  },
};
