/** Tables of pages that are made from the contract: `<!-- table errors 404 409 -->` is replaced when the site is built. */
import { errorCodes, type ErrorDefinition, ERRORS } from '../contract/errors.js';

/** The page with its tables. @throws Error where it names a table that there is none of */
export function withTables(page: string): string {
  return page.replaceAll(/^<!-- table (\w+) ([\w ]+?) -->$/gm, (_, name: string, words: string) => {
    const table = new Map(Object.entries(TABLES)).get(name);
    if (table === undefined) throw new Error(`there is no table ${name}, only ${Object.keys(TABLES).join(', ')}`);
    return table(words.split(' '));
  });
}

const TABLES: Readonly<Record<string, (words: readonly string[]) => string>> = { errors: errorTable };

const RETRY: Readonly<Record<ErrorDefinition['retry'], string>> = {
  no: 'no',
  yes: 'yes',
  later: 'later',
  retry_after: 'after `Retry-After`',
};

function errorTable(statuses: readonly string[]): string {
  const rows = errorCodes(({ status }) => statuses.includes(String(status))).map((code) => {
    const { status, meaning, details = '', retry, remedy } = ERRORS[code];
    return `| \`${code}\` | ${status} | ${`${meaning} ${details}`.trim()} | ${RETRY[retry]} | ${remedy} |`;
  });
  const heads = ['`X-Error-Code`', 'Status', 'Meaning', 'Does a retry help?', 'What to do'];
  return [`| ${heads.join(' | ')} |`, `|${' --- |'.repeat(heads.length)}`, ...rows].join('\n');
}
