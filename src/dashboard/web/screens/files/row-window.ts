/** The visible rows of a long list. All rows have the same height. */
import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** Rows are added and removed in steps, so most scroll events draw nothing. */
const STEP = 4;

export interface RowWindow {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly from: number;
  readonly until: number;
  readonly onScroll: () => void;
  /** Scrolls no further than necessary. */
  readonly show: (index: number) => void;
}

export function useRowWindow(count: number, rowPx: number): RowWindow {
  const scroller = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [height, setHeight] = useState(800);
  const onScroll = useCallback(() => {
    const top = scroller.current?.scrollTop ?? 0;
    setFirst(Math.floor(top / rowPx / STEP) * STEP);
  }, [rowPx]);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return undefined;
    const observer = new ResizeObserver(() => {
      setHeight(box.clientHeight);
      onScroll();
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, [onScroll]);
  const show = useCallback(
    (index: number) => {
      const box = scroller.current;
      if (box === null) return;
      const [top, bottom] = [index * rowPx, (index + 1) * rowPx];
      if (top < box.scrollTop) box.scrollTop = top;
      else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
      onScroll();
    },
    [rowPx, onScroll],
  );
  const shown = Math.ceil(height / rowPx) + STEP;
  const last = Math.max(0, count - shown);
  return {
    scroller,
    from: Math.max(0, Math.min(first, last) - STEP),
    until: Math.min(count, Math.min(first, last) + shown + STEP),
    onScroll,
    show,
  };
}
