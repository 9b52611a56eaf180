/** Hooks that read and change data of the gateway. */
import {
  focusManager,
  keepPreviousData,
  type Query,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import { ApiError, causeOf, request, setCsrfToken, whenSignedOut, withQuery } from './client.ts';
import type { AnswerOf, RowOf } from './answers.ts';
import { setDraftOwner } from './drafts.ts';
import { whenBack } from './reach.ts';
import { setSessionEnd } from './session-end.ts';
import { t } from '../texts/texts.ts';
import { showToast } from '../toasts.ts';
import type { SignedIn } from './types.ts';

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status === 503),
    },
  },
});

const SESSION = ['/manage/session'] as const;
whenSignedOut((why) => {
  const session = queries.getQueryData<SignedIn | null>(SESSION)?.session;
  if (session === undefined || session === null) {
    if (why !== 'unknown') setSessionEnd(why);
  } else if (why === 'logged_out') {
    forgetSession();
    setSessionEnd(why);
  } else {
    // The browser drops the cookie when it expires. The gateway then cannot know whose session it was.
    setSessionEnd(Date.parse(session.expiresAt) <= Date.now() ? 'expired' : why);
  }
});
whenBack(() => {
  showToast(t.common.away.back);
  void queries.invalidateQueries();
});

/**
 * The session; null if the user is not logged in. A session that ends stays here, so that the page stays too
 * (session-end.ts).
 */
export function useSession(): UseQueryResult<SignedIn | null, Error> {
  return useQuery<SignedIn | null, Error>({
    queryKey: SESSION,
    staleTime: Infinity,
    queryFn: async () => {
      try {
        const signedIn = await request('GET', '/manage/session');
        setCsrfToken(signedIn.csrfToken ?? '');
        setDraftOwner(signedIn.account.email);
        return signedIn;
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return queries.getQueryData<SignedIn>(SESSION) ?? null;
        throw error;
      }
    },
  });
}

export function rememberSession(signedIn: SignedIn): void {
  setCsrfToken(signedIn.csrfToken ?? '');
  setDraftOwner(signedIn.account.email);
  setSessionEnd(undefined);
  queries.setQueryData(SESSION, signedIn);
  void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
}

/** The e-mail address of the logged-in account. */
export function accountNow(): string | undefined {
  return queries.getQueryData<SignedIn | null>(SESSION)?.account.email;
}

/**
 * Reports a log-out to other windows of this browser. Their cookie is gone too, and the gateway cannot give them the
 * reason.
 */
const otherWindows = new BroadcastChannel('ftg.session');
otherWindows.addEventListener('message', () => {
  if (queries.getQueryData(SESSION) === null) return;
  forgetSession();
  setSessionEnd('logged_out');
});

export function loggedOut(): void {
  forgetSession();
  otherWindows.postMessage('logged_out');
}

/** Removes all data of the account from memory, behind the login screen. */
export function forgetSession(): void {
  setCsrfToken('');
  setDraftOwner(undefined);
  setSessionEnd(undefined);
  queries.setQueryData(SESSION, null);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
}

interface ReadOptions {
  /** Interval between reads while the page is visible. */
  readonly everyMs?: number;
  /** Until the answer for another path arrives, the former one is shown. */
  readonly keepsFormer?: boolean;
  /** False: nothing is read. */
  readonly isWanted?: boolean;
}

/** Reads the answer to a GET. The path is its cache key. */
export function useRead<const A extends string>(
  path: A,
  options: ReadOptions = {},
): UseQueryResult<AnswerOf<'GET', A>, Error> {
  return useQuery<AnswerOf<'GET', A>, Error>({
    queryKey: [path],
    queryFn: ({ signal }) => request('GET', path, undefined, signal),
    enabled: options.isWanted !== false,
    ...(options.everyMs === undefined ? {} : { refetchInterval: options.everyMs }),
    ...(options.keepsFormer === true ? { placeholderData: keepPreviousData } : {}),
  });
}

/** Rows that a GET returns, all at once or page by page. */
export interface Rows<R> {
  /** Undefined before the first answer. */
  readonly rows: readonly R[] | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
  /** The other fields of the answer with the newest rows. */
  readonly first?: Readonly<Record<string, unknown>> | undefined;
  readonly isFetching?: boolean;
  readonly isPagedThrough?: boolean;
  readonly hasMore?: boolean;
  readonly isFetchingMore?: boolean;
  readonly hasFailedMore?: boolean;
  readonly fetchMore?: () => void;
}

/** Reads rows from the field `name` of the answer, all at once. */
export function useRows<const A extends string, N extends string>(
  path: A,
  name: N,
  options: ReadOptions = {},
): Rows<RowOf<A, N>> {
  const { data, error, refetch } = useRead(path, options);
  const first = data as Readonly<Record<string, unknown>> | undefined;
  return { rows: first?.[name] as readonly RowOf<A, N>[] | undefined, error, refetch, first };
}

interface Page {
  readonly nextCursor: string | null;
  readonly [name: string]: unknown;
}

/** Reads rows from the field `name` of the answer, page by page. Later pages are read on request. */
export function usePages<const A extends string, N extends string>(
  path: A,
  name: N,
  options: ReadOptions = {},
): Rows<RowOf<A, N>> {
  const pages = useInfiniteQuery({
    queryKey: [path],
    queryFn: ({ pageParam, signal }) =>
      request('GET', withQuery<string>(path, { cursor: pageParam }), undefined, signal) as Promise<Page>,
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: (former) => former,
    // Do not refresh the list while the user reads older pages.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : (options.everyMs ?? false)),
  });
  const { data, error, refetch, isFetching, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } =
    pages;
  const rows = useMemo(() => data?.pages.flatMap((page) => page[name] as readonly RowOf<A, N>[]), [data, name]);
  return {
    rows,
    error,
    refetch,
    isFetching,
    first: data?.pages[0],
    isPagedThrough: (data?.pages.length ?? 0) > 1,
    hasMore: hasNextPage,
    isFetchingMore: isFetchingNextPage,
    hasFailedMore: isFetchNextPageError,
    fetchMore: () => void fetchNextPage(),
  };
}

/** Refetches the cached answers of these paths and of all paths below them. */
export async function refresh(...paths: readonly string[]): Promise<void> {
  await queries.invalidateQueries({ predicate: ({ queryKey }) => isBelow(queryKey, paths) });
}

/** News from the gateway does not refetch a view more often than this. */
const LEAST_MS = 2_000;
/** The largest share of time that refreshes may take. Slow answers make refreshes rarer. */
const MOST_SHARE = 0.2;

/**
 * Returns a `refresh` for news that may arrive many times a second. All its news together causes at most one refresh per
 * `everyMs`, and never two at once. It skips lists with several loaded pages. A hidden page refreshes once it is visible
 * again.
 */
export function refresher(everyMs: number): (...paths: readonly string[]) => void {
  const due = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let nextAt = -Infinity;
  const refreshDue = async (): Promise<void> => {
    const begun = performance.now();
    const paths = [...due];
    due.clear();
    const former = Date.now() - LEAST_MS;
    const matching = queries.getQueryCache().findAll({
      type: 'active',
      predicate: (query) => isBelow(query.queryKey, paths) && pagesOf(query) <= 1,
    });
    const fresh = new Set(matching.filter(({ state }) => state.dataUpdatedAt > former));
    for (const { queryKey } of fresh) due.add(String(queryKey[0]));
    await queries.invalidateQueries(
      {
        predicate: (query) => isBelow(query.queryKey, paths) && pagesOf(query) <= 1 && !fresh.has(query),
        refetchType: focusManager.isFocused() ? 'active' : 'none',
      },
      { cancelRefetch: false },
    );
    const now = performance.now();
    nextAt = now + Math.max(everyMs, (now - begun) / MOST_SHARE);
    timer = undefined;
    if (due.size > 0) soon();
  };
  const soon = (...paths: readonly string[]): void => {
    for (const path of paths) due.add(path);
    timer ??= setTimeout(() => void refreshDue(), Math.max(0, nextAt - performance.now()));
  };
  return soon;
}

/** For changes in the gateway by any client. */
export const refreshSoon = refresher(5_000);

function isBelow([key]: readonly unknown[], paths: readonly string[]): boolean {
  return typeof key === 'string' && paths.some((path) => key.startsWith(path));
}

function pagesOf({ state: { data } }: Query): number {
  const isPaged = typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages);
  return isPaged ? (data.pages as unknown[]).length : 1;
}

export interface ActionOptions<R> {
  readonly refreshes?: readonly string[];
  readonly says?: string;
  readonly onDone?: (result: R) => void;
  /** The caller shows the error beside its field. Otherwise a toast shows it. */
  readonly showsError?: boolean;
}

export function useAction<R, A = void>(
  run: (input: A) => Promise<R>,
  options: ActionOptions<R> = {},
): UseMutationResult<R, Error, A> {
  return useMutation<R, Error, A>({
    mutationFn: run,
    onSuccess: async (result) => {
      if (options.says !== undefined) showToast(options.says);
      options.onDone?.(result);
      await refresh(...(options.refreshes ?? []));
    },
    onError: (error) => {
      if (options.showsError !== true) showToast('', 'bad', causeOf(error));
    },
  });
}
