/** The languages of texts for people: the dashboard, the pages of links, and mails. The first one is the default. */
export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];
