/** The data that the gateway embeds in the page (src/links/page.ts). */
export interface PageData {
  readonly words: {
    readonly states: Readonly<
      Record<'waiting' | 'sending' | 'broken' | 'storing' | 'stored' | 'tooLarge' | 'unreadable' | 'again', string>
    >;
    readonly total: {
      readonly sent: string;
      readonly left: string;
      /** By the plural category of their number. */
      readonly stored: Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
      readonly failed: Readonly<Partial<Record<Intl.LDMLPluralRule, string>>>;
    };
    readonly receipt: Readonly<Record<'save' | 'title' | 'storedAt', string>>;
    readonly codes: Readonly<Record<string, string>>;
    readonly server: string;
    readonly network: string;
  };
  readonly language: string;
  /** 0 = no limit. */
  readonly maxBytes: number;
  /** The name of every file; null: the files keep their own. */
  readonly filename: string | null;
  /** The link accepts a single file. */
  readonly isOne: boolean;
  readonly takesFolders: boolean;
}
