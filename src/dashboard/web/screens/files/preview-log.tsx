/** The end of a text, updated as the file grows. */
import { useEffect, useRef, useState, type ReactElement, type ReactNode } from 'react';
import { causeOf } from '../../api/client.ts';
import { t } from '../../texts/texts.ts';
import { Button } from '../../ui/basics.tsx';
import { Pause, Play } from '../../ui/later-icons.ts';
import { Reason } from '../../ui/reason.tsx';
import { MOST_TEXT, readMore, readText, type Part } from './content.ts';

const POLL_MS = 2_000;

interface Props {
  readonly url: string;
  /** The end as it was last read. A new part replaces the shown text, and following continues. */
  readonly part: Part;
  /** Buttons in front of its own. */
  readonly children: ReactNode;
}

export function LogTail({ url, part, children }: Props): ReactElement {
  const [isFollowing, setFollowing] = useState(false);
  const [{ text, size }, setShown] = useState({ text: part.text, size: part.size });
  const [read, setRead] = useState(part);
  if (read !== part) {
    setRead(part);
    setShown({ text: part.text, size: part.size });
  }
  const [error, setError] = useState<Error>();
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  useEffect(() => {
    if (!isFollowing) return undefined;
    const abort = new AbortController();
    const poll = async (): Promise<void> => {
      const more = await readMore(url, size, abort.signal);
      if (more === null) return;
      // The file was truncated or rotated, so read its end again.
      if (more !== undefined) setShown({ text: lastOf(text + more.text), size: more.size });
      else setShown((await readText(url, 'end', abort.signal)) ?? { text: '', size: 0 });
    };
    const tick = (): void => {
      poll().then(
        () => {
          setError(undefined);
          if (!abort.signal.aborted) timer = setTimeout(tick, POLL_MS);
        },
        (failed: Error) => {
          if (abort.signal.aborted) return;
          setError(failed);
          setFollowing(false);
        },
      );
    };
    let timer = setTimeout(tick, POLL_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [isFollowing, url, text, size]);
  return (
    <>
      <div className="row">
        {children}
        <Button icon={isFollowing ? Pause : Play} aria-pressed={isFollowing} onClick={() => setFollowing(!isFollowing)}>
          {t.files.preview.follow}
        </Button>
        {isFollowing && <span className="muted">{t.files.preview.following}</span>}
        {error !== undefined && (
          <span className="bad-text">
            <Reason {...causeOf(error)} isShort />
          </span>
        )}
      </div>
      <pre ref={box} className="preview-text" tabIndex={0} aria-label={t.files.preview.content}>
        {text === '' ? t.files.preview.empty : text}
      </pre>
    </>
  );
}

function lastOf(text: string): string {
  if (text.length <= 2 * MOST_TEXT) return text;
  return text.slice(text.indexOf('\n', text.length - MOST_TEXT) + 1);
}
