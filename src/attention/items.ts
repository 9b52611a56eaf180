/** The facts about one thing that needs a person, for the API and for mails. */
import { ATTENTION, type AttentionIds, type AttentionItem, attentionText } from '../contract/attention.js';
import type { Language } from '../contract/languages.js';

/** Stays the same for the same trouble, even if its figures and words change. */
export function itemKeyOf(item: AttentionItem): string {
  return 'id' in item ? `${item.kind}:${item.id}` : item.kind;
}

export function isUrgent(item: AttentionItem): boolean {
  return item.kind === 'quota' ? item.used >= item.limit : ATTENTION[item.kind].isUrgent === true;
}

/** Under the names that the API gives them. */
export function idsOf(item: AttentionItem): AttentionIds {
  const { about } = ATTENTION[item.kind];
  return 'id' in item && about !== undefined ? { [`${about}Id`]: item.id } : {};
}

export function factsOf(item: AttentionItem) {
  return {
    name: 'name' in item ? item.name : null,
    error: 'error' in item ? item.error : null,
    errorCode: 'errorCode' in item ? item.errorCode : null,
    count: 'count' in item ? item.count : 'used' in item ? item.used : null,
    limit: 'limit' in item ? item.limit : null,
    at: 'dueAt' in item ? item.dueAt : 'expiresAt' in item ? item.expiresAt : null,
  };
}

const UNKNOWN: Readonly<Record<Language, string>> = {
  en: 'the reason is unknown',
  de: 'der Grund ist nicht bekannt',
};

export function wordsOf(item: AttentionItem, language: Language = 'en'): string {
  const { name, error, count, limit, at } = factsOf(item);
  return attentionText(ATTENTION[item.kind][language].text, {
    name: name ?? '',
    error: error ?? UNKNOWN[language],
    at: at?.toISOString() ?? '',
    count: count ?? 0,
    limit: limit ?? 0,
  });
}

const TIMES: ReadonlySet<string> = new Set(['dueAt', 'expiresAt']);

/** Restores an item from JSON. */
export function itemOf(json: string): AttentionItem {
  return JSON.parse(json, (key: string, value: unknown) =>
    TIMES.has(key) && typeof value === 'string' ? new Date(value) : value,
  ) as AttentionItem;
}
