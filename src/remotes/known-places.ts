/** What the files of one batch were told of the folders that they go to. It is good for seconds: others change them, too. */
import { parentOf, ROOT, type RemotePath } from './path.js';

export class KnownPlaces {
  readonly #answers = new Map<string, Promise<unknown>>();
  /** Those that the batch's own files are in. */
  readonly #entered = new Set<RemotePath>();

  /** Each question is asked once; one that failed is asked again. */
  ask<T>(question: string, asked: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const answer = asked();
    this.#answers.set(question, answer);
    answer.catch(() => this.#answers.delete(question));
    return answer;
  }

  enter(path: RemotePath): void {
    for (let folder = parentOf(path); folder !== ROOT && !this.#entered.has(folder); folder = parentOf(folder)) {
      this.#entered.add(folder);
    }
  }

  hasEntered(folder: RemotePath): boolean {
    return this.#entered.has(folder);
  }
}
