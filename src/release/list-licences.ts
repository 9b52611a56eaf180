/** Lists the licences of a release: `npm run licences`. Fails on one that is not allowed. */
import { bundledPackages, installedPackages, isAllowed, listOf } from './licences.js';

const all = [...installedPackages(), ...(await bundledPackages())];
console.log(listOf(all));
const refused = all.filter(({ licence }) => !isAllowed(licence));
if (refused.length > 0) {
  console.error(`not on the list of allowed licences: ${refused.map(({ name }) => name).join(', ')}`);
  process.exitCode = 1;
}
