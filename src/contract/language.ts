/** The languages of the dashboard, of mails and of the pages of links. */
export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];
