/** Replaces the worker in tests of its failure. */
export default function run(): never {
  throw new Error('out of luck');
}
