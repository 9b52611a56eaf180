/**
 * What a user has typed into forms of new things. It stays in this tab until it is sent or discarded, or the user logs
 * out. The forms keep secrets out of it.
 */
type Draft = Readonly<Record<string, string | boolean | readonly string[]>>;
/** As JSON. */
type Drafts = Readonly<Record<string, string>>;

const ITEM = 'ftg.drafts';
let owner: string | undefined;

function read(): Drafts {
  try {
    const kept = JSON.parse(sessionStorage.getItem(ITEM) ?? '{}') as {
      readonly owner?: string;
      readonly drafts?: Drafts;
    };
    return kept.owner === owner ? (kept.drafts ?? {}) : {};
  } catch {
    return {};
  }
}

function write(drafts: Drafts): void {
  try {
    if (Object.keys(drafts).length === 0) sessionStorage.removeItem(ITEM);
    else sessionStorage.setItem(ITEM, JSON.stringify({ owner, drafts }));
  } catch {
    // Storage may be full or switched off. The draft then ends with the page.
  }
}

/** The account of the session; undefined after a log-out. Drafts of others are removed. */
export function setDraftOwner(email: string | undefined): void {
  owner = email;
  write(read());
}

export function keptDraft(name: string): Draft | undefined {
  const { [name]: draft } = read();
  return draft === undefined ? undefined : (JSON.parse(draft) as Draft);
}

/** Absent: removes it. */
export function keepDraft(name: string, draft?: string): void {
  const { [name]: _former, ...others } = read();
  write(draft === undefined ? others : { ...others, [name]: draft });
}
