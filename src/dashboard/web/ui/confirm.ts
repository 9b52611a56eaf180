/** The question of a dialog, for screens that load it on first use. */
export { Confirm as default } from './form-dialog.tsx';
