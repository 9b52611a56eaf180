/** The build's data for the browser about an operation to try. */
export interface Field {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'body';
  readonly isRequired: boolean;
  readonly hint: string;
  /** Empty if there is none, like `initial`. */
  readonly example: string;
  /** The value if the field is omitted. */
  readonly initial: string;
  /** Empty: any text. */
  readonly choices: readonly string[];
  readonly isFile: boolean;
}

export interface FormBody {
  readonly type: string;
  readonly kind: 'text' | 'parts' | 'file';
  /** For the kind `parts`. */
  readonly fields: readonly Field[];
  /** Examples for the kind `text`. */
  readonly texts: readonly { readonly title: string; readonly text: string }[];
}

export interface Form {
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly access: 'none' | 'key' | 'session';
  /** Asks for confirmation before it is sent. */
  readonly isDestructive: boolean;
  readonly fields: readonly Field[];
  readonly bodies: readonly FormBody[];
  /** Media types of the answer. */
  readonly accepts: readonly string[];
}

export interface Forms {
  /** Key: operationId. */
  readonly operations: Readonly<Record<string, Form>>;
  /** The address of the explanation of each `X-Error-Code`. */
  readonly errors: Readonly<Record<string, string>>;
}
