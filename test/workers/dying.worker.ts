/** Replaces a worker: its thread ends in the middle of a job. */
export default function run(): never {
  process.exit(3);
}
