/** Whether a media query matches now. */
import { useCallback, useSyncExternalStore } from 'react';

export function useMatches(media: MediaQueryList): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      media.addEventListener('change', listener);
      return () => media.removeEventListener('change', listener);
    },
    [media],
  );
  return useSyncExternalStore(subscribe, () => media.matches);
}
