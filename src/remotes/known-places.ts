/**
 * What the files of one job have learned about their target folders within a minute: each folder is asked about once,
 * however many files it gets.
 */
import { parentOf, ROOT, type RemotePath } from './path.js';

/** With more it forgets everything: files come folder by folder, so hardly a folder is asked about twice. */
const MOST_FACTS = 2_000;

export class KnownPlaces {
  readonly #answers = new Map<string, Promise<unknown>>();
  /** The folders that contain files of this job. */
  readonly #entered = new Set<RemotePath>();

  /** Asks each question once; a failed question is asked again. */
  ask<T>(question: string, query: () => Promise<T>): Promise<T> {
    const known = this.#answers.get(question) as Promise<T> | undefined;
    if (known !== undefined) return known;
    // What was entered is forgotten as well: the next answer about its folder shows it.
    if (this.#answers.size + this.#entered.size >= MOST_FACTS) {
      this.#answers.clear();
      this.#entered.clear();
    }
    const answer = query();
    this.#answers.set(question, answer);
    answer.catch(() => this.#forget(question, answer));
    return answer;
  }

  /** Shares the answer only with those who ask before it comes. */
  share<T>(question: string, query: () => Promise<T>): Promise<T> {
    const answer = this.ask(question, query);
    const forget = (): void => this.#forget(question, answer);
    answer.then(forget, forget);
    return answer;
  }

  /** The answer was wrong, or is no longer right. */
  forget(question: string): void {
    this.#answers.delete(question);
  }

  enter(path: RemotePath): void {
    for (let folder = parentOf(path); folder !== ROOT && !this.#entered.has(folder); folder = parentOf(folder)) {
      this.#entered.add(folder);
    }
  }

  hasEntered(folder: RemotePath): boolean {
    return this.#entered.has(folder);
  }

  #forget(question: string, answer: Promise<unknown>): void {
    if (this.#answers.get(question) === answer) this.#answers.delete(question);
  }
}
