/** Composes mails: plain text and simple HTML. */
import { visible } from '../base/visible.js';
import { idsOf, wordsOf } from '../attention/items.js';
import type { Language } from '../contract/languages.js';
import { ATTENTION_KINDS, type AttentionItem, attentionPage } from '../contract/attention.js';
import { MAIL_WORDS } from './mail-words.js';
import { escapeHtml } from '../base/html.js';

export interface MailContent {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

interface News {
  /** Never empty. */
  readonly fresh: readonly AttentionItem[];
  readonly goesOn: readonly AttentionItem[];
  readonly over: readonly AttentionItem[];
}

const MOST_SHOWN = 50;
const SUBJECT_CHARS = 150;
const LINE_CHARS = 500;

/** `publicUrl`: of the dashboard, "" = not known. */
export function alarmMail(news: News, language: Language, publicUrl: string): MailContent {
  const words = MAIL_WORDS[language];
  const sections = [
    { title: words.news(news.fresh.length), items: worstFirst(news.fresh), isOver: false },
    { title: words.goesOn(news.goesOn.length), items: worstFirst(news.goesOn), isOver: false },
    { title: words.over(news.over.length), items: worstFirst(news.over), isOver: true },
  ].filter(({ items }) => items.length > 0);
  const [worst] = worstFirst(news.fresh);
  const text: string[] = [];
  const html: string[] = [];
  for (const { title, items, isOver } of sections) {
    const rows = items.slice(0, MOST_SHOWN).map((item) => ({
      line: cut(oneLine(wordsOf(item, language)), LINE_CHARS),
      link:
        isOver || publicUrl === '' ? undefined : publicUrl.replace(/\/+$/, '') + attentionPage(item.kind, idsOf(item)),
    }));
    const rest = items.length - rows.length;
    text.push(title, '');
    for (const { line, link } of rows) text.push(`- ${line}`, ...(link === undefined ? [] : [`  ${link}`]));
    if (rest > 0) text.push(`- ${words.more(rest)}`);
    text.push('');
    const shown = rows.map(({ line, link }) =>
      link === undefined
        ? `<li>${escapeHtml(line)}</li>`
        : `<li>${escapeHtml(line)} <a href="${escapeHtml(link)}">${escapeHtml(words.open)}</a></li>`,
    );
    if (rest > 0) shown.push(`<li>${escapeHtml(words.more(rest))}</li>`);
    html.push(`<p>${escapeHtml(title)}</p><ul>${shown.join('')}</ul>`);
  }
  text.push('-- ', words.why);
  html.push(`<p><small>${escapeHtml(words.why)}</small></p>`);
  const subject = worst === undefined ? '' : words.subject(news.fresh.length, wordsOf(worst, language));
  return {
    subject: cut(oneLine(subject), SUBJECT_CHARS),
    text: text.join('\n'),
    html: page(html.join(''), language),
  };
}

export function plainMail(subject: string, text: string, language: Language): MailContent {
  const paragraphs = text.split('\n\n').map((part) => `<p>${escapeHtml(part)}</p>`);
  return { subject: oneLine(subject), text, html: page(paragraphs.join(''), language) };
}

function worstFirst(items: readonly AttentionItem[]): readonly AttentionItem[] {
  return items.toSorted((one, other) => ATTENTION_KINDS.indexOf(one.kind) - ATTENTION_KINDS.indexOf(other.kind));
}

/** Names and errors come from people and servers: nothing in them may begin a line or a header, or reverse the text. */
function oneLine(text: string): string {
  return visible(text, () => ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function cut(text: string, chars: number): string {
  const whole = [...text];
  return whole.length <= chars ? text : `${whole.slice(0, chars - 1).join('')}…`;
}

function page(body: string, language: Language): string {
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"></head><body>${body}</body></html>`;
}
