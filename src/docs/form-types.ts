/** What the build tells the browser of an operation that a reader wants to try. */
export interface Field {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'body';
  readonly isRequired: boolean;
  readonly hint: string;
  /** Empty where there is none, as `initial` is. */
  readonly example: string;
  /** What holds when the field is left out. */
  readonly initial: string;
  /** Empty: any text. */
  readonly choices: readonly string[];
  readonly isFile: boolean;
}

export interface FormBody {
  readonly type: string;
  readonly kind: 'text' | 'parts' | 'file';
  /** Of `parts`. */
  readonly fields: readonly Field[];
  /** Examples of `text`. */
  readonly texts: readonly { readonly title: string; readonly text: string }[];
}

export interface Form {
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly access: 'none' | 'key' | 'session';
  /** Asks before it is sent. */
  readonly isDestructive: boolean;
  readonly fields: readonly Field[];
  readonly bodies: readonly FormBody[];
  /** Media types of the answer. */
  readonly accepts: readonly string[];
}

export interface Forms {
  /** By operationId. */
  readonly operations: Readonly<Record<string, Form>>;
  /** Where a code of `X-Error-Code` is explained. */
  readonly errors: Readonly<Record<string, string>>;
}
