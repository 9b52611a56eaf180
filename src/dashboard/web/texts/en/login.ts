export const login = {
  email: 'E-mail',
  documentTitle: 'Log in – File Transfer Gateway',
  password: 'Password',
  logIn: 'Log in',
  whichPassword: 'The first start prints the password once. With a configuration file, use the password set there.',
  code: 'Code',
  codeHint: 'Six digits from your authenticator app, or one of your recovery codes.',
  confirm: 'Confirm',
  back: 'Back',
  failures: {
    lockedTitle: 'Too many failed attempts',
    locked: (minutes: number | undefined): string =>
      `Login is locked ${minutes === undefined ? 'for now' : `for another ${minutes} min`}. Until then, even the right password does not work.`,
    passwordTitle: 'Wrong e-mail or password',
    password: 'Check both and try again. Five failures lock the login for 15 minutes.',
    codeTitle: 'Wrong code',
    code: 'Codes change every 30 seconds. Check that the clock of your phone is right.',
    other: 'This did not work',
  },
};
