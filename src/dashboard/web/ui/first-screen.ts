/** Code and texts that the first screen can do without load after it. */

let release = (): void => undefined;

/** Resolves when the first screen has been read. */
export const firstScreen = new Promise<void>((resolve) => {
  release = resolve;
});

/** The login and the shell call it, when their screen has been read. */
export function firstScreenIsRead(): void {
  release();
}
