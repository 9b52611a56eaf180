/**
 * What the files of one batch have learned about their target folders. It is valid for seconds: other clients change
 * folders, too.
 */
import { parentOf, ROOT, type RemotePath } from './path.js';

export class KnownPlaces {
  readonly #answers = new Map<string, Promise<unknown>>();
  /** The folders that contain files of this batch. */
  readonly #entered = new Set<RemotePath>();

  /** Asks each question once; a failed question is asked again. */
  ask<T>(question: string, query: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const answer = query();
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
