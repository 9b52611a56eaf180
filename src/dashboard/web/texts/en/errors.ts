/** Not in the catalogue: the page loads it where an error is shown. */
export { errorMeanings as errors } from '../../../../base/error-meanings.ts';
