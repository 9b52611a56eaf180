export { common } from './common.ts';
export { login } from './login.ts';
export { overview } from './overview.ts';
export { places } from './places.ts';
export { session } from './session.ts';
export { shell } from './shell.ts';
export { transfers } from './transfers.ts';
export { words } from './words.ts';
