/** Time until the next check, by the second. */
import { useEffect, useState, type ReactElement } from 'react';

export function Countdown({ iso }: { readonly iso: string }): ReactElement {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((Date.parse(iso) - now) / 1_000));
  const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <time dateTime={iso} title={iso} className="number">
      {seconds === 0 ? 'now' : `in ${clock}`}
    </time>
  );
}
