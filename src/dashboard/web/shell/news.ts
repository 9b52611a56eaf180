/** Results that arrived while the page was open, newest first, until the user has seen them. */
import { visible } from '../../../base/visible.ts';
import icon from '../icon.svg';
import { wantsNotifications } from '../preferences.ts';
import { store } from '../store.ts';
import { t } from '../texts/texts.ts';

interface News {
  /** A later entry replaces an earlier one with the same id. */
  readonly id: string;
  readonly text: string;
  readonly tone: 'good' | 'bad';
  readonly href: string;
  readonly at: string;
  readonly isSeen: boolean;
}

const MOST = 20;
const news = store<readonly News[]>([]);

export function addNews(item: Pick<News, 'id' | 'text' | 'tone' | 'href'>): void {
  const added = { ...item, at: new Date().toISOString(), isSeen: false };
  news.set([added, ...news.get().filter(({ id }) => id !== item.id)].slice(0, MOST));
  notify(item.text);
}

export function markSeen(): void {
  if (news.get().some(({ isSeen }) => !isSeen)) news.set(news.get().map((item) => ({ ...item, isSeen: true })));
}

export const useNews = news.use;

/** Shows a browser notification if it is allowed and the page is hidden. */
export function notify(text: string): void {
  if (!wantsNotifications() || !('Notification' in globalThis)) return;
  if (Notification.permission !== 'granted' || document.visibilityState === 'visible') return;
  new Notification(t.common.product, { body: visible(text), icon });
}
