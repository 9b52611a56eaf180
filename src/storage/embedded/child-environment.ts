/**
 * The environment of child processes. Ours holds the master key and every secret that the configuration refers to, and
 * other processes of the child's user can read what it was started with (/proc/<pid>/environ).
 */
const PASSED_ON = /^(PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|HOME|LD_LIBRARY_PATH)$/;
/** Windows starts no program without some of these; its names are in any case. */
const PASSED_ON_WINDOWS = /^(PATH|PATHEXT|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|TEMP|TMP|USERPROFILE|TZ)$/i;

export function childEnvironment(
  added: Readonly<Record<string, string>> = {},
  own: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string | undefined> {
  const passedOn = platform === 'win32' ? PASSED_ON_WINDOWS : PASSED_ON;
  return { ...Object.fromEntries(Object.entries(own).filter(([name]) => passedOn.test(name))), ...added };
}
