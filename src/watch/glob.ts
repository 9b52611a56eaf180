/**
 * Globs that somebody else wrote, matched by picomatch. Its regular expressions go back and try again: a dozen stars and a
 * name of 200 letters, or `+(*)`, would hold the event loop for hours. Where pattern and text could take long, the match
 * gets a short time and is given up then.
 */
import { createContext, Script } from 'node:vm';
import picomatch from 'picomatch';

/** What a text of this length and so many parts that can give way may take in steps, at most, without a watch over it. */
const MAX_FREE_STEPS = 1e6;
const MAX_MATCH_MS = 50;
/** A match that ran out of time once may have waited for a processor. */
const MAX_TRIES = 2;
/** Runs of stars, and alternatives; behind brackets of any kind parts may also repeat each other. */
const GIVING_WAY = /\*+|\{/g;

interface Watched {
  match: (() => boolean) | undefined;
}

/** Made for the first glob that needs it, which few do. */
let watch: { readonly watched: Watched; readonly run: () => boolean } | undefined;

/**
 * The function throws what `tooSlow` makes of the text when the match takes too long.
 *
 * @throws SyntaxError for brackets that are never closed
 */
export function compileGlob(glob: string, tooSlow: (text: string) => Error): (text: string) => boolean {
  const matches = picomatch(glob, { strictBrackets: true });
  const givingWay = glob.includes('(') ? Infinity : (glob.match(GIVING_WAY) ?? []).length;
  return (text) => {
    if (text.length ** givingWay <= MAX_FREE_STEPS) return matches(text);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const answer = inTime(() => matches(text));
      if (answer !== undefined) return answer;
    }
    throw tooSlow(text);
  };
}

/** Undefined when it took too long. Only a script of node:vm can be stopped from outside, in the middle of a regular expression too. */
function inTime(match: () => boolean): boolean | undefined {
  const { watched, run } = (watch ??= makeWatch());
  watched.match = match;
  try {
    return run();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    watched.match = undefined;
  }
}

function makeWatch(): NonNullable<typeof watch> {
  const watched: Watched = { match: undefined };
  const context = createContext(watched);
  const script = new Script('match()');
  return { watched, run: () => script.runInContext(context, { timeout: MAX_MATCH_MS }) as boolean };
}
