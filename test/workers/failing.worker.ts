/** Stands in for the worker where its failure is tested. */
export default function run(): never {
  throw new Error('out of luck');
}
