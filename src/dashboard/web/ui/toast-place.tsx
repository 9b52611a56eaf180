/** The place of the toasts: at the bottom, unless they would cover what the user works with. */
import { type ReactElement, type RefObject, useLayoutEffect } from 'react';

const CONTROLS = 'a, button, input, select, textarea, summary, [role^="menuitem"], [role="option"]';
const DIALOGS = '[role="dialog"], [role="alertdialog"]';
/** Controls that are left free if there is room for it. */
const OTHERS = ':is(main, [role="dialog"]) :is(input, select, textarea, button), .queue';
const GAP = 8;
const COST = { needed: 1e6, other: 1, distance: 1e-3 } as const;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Placed {
  readonly region: RefObject<HTMLElement | null>;
  readonly toasts: readonly unknown[];
}

export default function Place({ region, toasts }: Placed): ReactElement {
  useLayoutEffect(
    () => (region.current === null || toasts.length === 0 ? undefined : keepOthersFree(region.current)),
    [region, toasts],
  );
  return <></>;
}

/**
 * Toasts cover neither the focused control nor an open menu or the buttons of the open dialog. Each new toast gets the
 * best place. Later the toasts move only if they cover one of these. Returns what ends it.
 */
function keepOthersFree(toast: HTMLElement): () => void {
  let shift = { x: 0, y: 0 };
  const move = (needed: readonly Box[]): void => {
    // The layout's place, without the shift, which a transition may still be at.
    const { offsetLeft: left, offsetTop: top, offsetWidth: width, offsetHeight: height } = toast;
    const others = visibleBoxes(document.querySelectorAll(OTHERS));
    const tops = [top, ...[...needed, ...others].map((box) => box.top - GAP - height), GAP];
    const places = [left, GAP, innerWidth - GAP - width].flatMap((x) =>
      tops.filter((y) => y >= GAP && y <= top).map((y) => boxAt(x, y, width, height)),
    );
    const cost = (place: Box): number =>
      COST.needed * covered(place, needed) +
      COST.other * covered(place, others) +
      COST.distance * (top - place.top + Math.abs(place.left - left));
    const costs = places.map(cost);
    const best = places[costs.indexOf(Math.min(...costs))];
    if (best === undefined) return;
    shift = { x: best.left - left, y: best.top - top };
    toast.style.transform = `translate(${shift.x}px, ${shift.y}px)`;
  };
  let frame = 0;
  const check = (): void => {
    frame = 0;
    const needed = neededBoxes(toast);
    const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = toast;
    if (covered(boxAt(offsetLeft + shift.x, offsetTop + shift.y, offsetWidth, offsetHeight), needed) > 0) move(needed);
  };
  const checkSoon = (): void => {
    if (frame === 0) frame = requestAnimationFrame(check);
  };
  move(neededBoxes(toast));
  const ended = new AbortController();
  const { signal } = ended;
  for (const type of ['focusin', 'scroll', 'resize'] as const)
    addEventListener(type, checkSoon, { signal, capture: true, passive: true });
  const opened = new MutationObserver(checkSoon);
  opened.observe(document.body, { childList: true, subtree: true });
  return () => {
    ended.abort();
    opened.disconnect();
    cancelAnimationFrame(frame);
  };
}

function neededBoxes(toast: HTMLElement): readonly Box[] {
  const { activeElement: focused } = document;
  const dialog = [...document.querySelectorAll(DIALOGS)].at(-1);
  return visibleBoxes([
    ...(focused?.matches(CONTROLS) === true && !toast.contains(focused) ? [focused] : []),
    ...(dialog?.querySelectorAll('button') ?? []),
    ...document.querySelectorAll('[role="menu"]'),
  ]);
}

/** The visible parts of the elements. Dialogs scroll, and closed details keep the boxes of what they hide. */
function visibleBoxes(elements: Iterable<Element>): readonly Box[] {
  return [...elements]
    .filter((element) => element.checkVisibility())
    .map((element) => {
      const dialog = element.closest(DIALOGS) ?? document.documentElement;
      return cut(
        cut(element.getBoundingClientRect(), dialog.getBoundingClientRect()),
        boxAt(0, 0, innerWidth, innerHeight),
      );
    })
    .filter((box) => areaOf(box) > 0);
}

const boxAt = (left: number, top: number, width: number, height: number): Box => ({
  left,
  top,
  right: left + width,
  bottom: top + height,
});

const cut = (one: Box, other: Box): Box => ({
  left: Math.max(one.left, other.left),
  top: Math.max(one.top, other.top),
  right: Math.min(one.right, other.right),
  bottom: Math.min(one.bottom, other.bottom),
});

const areaOf = ({ left, top, right, bottom }: Box): number => Math.max(0, right - left) * Math.max(0, bottom - top);

const covered = (place: Box, boxes: readonly Box[]): number =>
  boxes.reduce((sum, box) => sum + areaOf(cut(place, box)), 0);
