/** Reading and changing what the gateway keeps, from components. */
import {
  focusManager,
  type Query,
  QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useMemo } from 'react';
import { ApiError, request, setCsrfToken, whenSignedOut, withQuery } from './client.ts';
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

const SESSION = ['/manage/session'];
whenSignedOut((why) => {
  const session = queries.getQueryData<SignedIn | null>(SESSION)?.session;
  if (session === undefined || session === null) {
    if (why !== 'unknown') setSessionEnd(why);
  } else if (why === 'logged_out') {
    forgetSession();
    setSessionEnd(why);
  } else {
    // The browser drops the cookie at that time, and the gateway then does not know whose session it was.
    setSessionEnd(Date.parse(session.expiresAt) <= Date.now() ? 'expired' : why);
  }
});
whenBack(() => {
  showToast(t.common.away.back);
  void queries.invalidateQueries();
});

/** Null = nobody is logged in. One that ends while the page is open stays here, so that the page does: see session-end.ts. */
export function useSession(): UseQueryResult<SignedIn | null, Error> {
  return useQuery<SignedIn | null, Error>({
    queryKey: SESSION,
    staleTime: Infinity,
    queryFn: async () => {
      try {
        const signedIn = await request<SignedIn>('GET', '/manage/session');
        setCsrfToken(signedIn.csrfToken ?? '');
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
  setSessionEnd(undefined);
  queries.setQueryData(SESSION, signedIn);
  void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
}

/** The e-mail of the account that is logged in. */
export function accountNow(): string | undefined {
  return queries.getQueryData<SignedIn | null>(SESSION)?.account.email;
}

/** Other windows of this browser: their cookie is gone with a log-out here, and nobody would tell them why. */
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

/** Nothing of the account stays in memory behind the login screen. */
export function forgetSession(): void {
  setCsrfToken('');
  setSessionEnd(undefined);
  queries.setQueryData(SESSION, null);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
}

interface ReadOptions {
  /** Asked again after this long while the page is seen. */
  readonly everyMs?: number;
}

/** What GET answers; the path is the key under which it is kept. */
export function useRead<T>(path: string, options: ReadOptions = {}): UseQueryResult<T, Error> {
  return useQuery<T, Error>({
    queryKey: [path],
    queryFn: ({ signal }) => request<T>('GET', path, undefined, signal),
    ...(options.everyMs === undefined ? {} : { refetchInterval: options.everyMs }),
  });
}

/** Rows that GET answers, all at once or page by page. */
export interface Rows<R> {
  /** Undefined before the first answer. */
  readonly rows: readonly R[] | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
  /** What came beside the newest rows. */
  readonly first?: Readonly<Record<string, unknown>> | undefined;
  readonly isFetching?: boolean;
  readonly isPagedThrough?: boolean;
  readonly hasMore?: boolean;
  readonly isFetchingMore?: boolean;
  readonly hasFailedMore?: boolean;
  readonly fetchMore?: () => void;
}

/** Rows that GET answers all at once, under that name. */
export function useRows<R>(path: string, name: string, options: ReadOptions = {}): Rows<R> {
  const { data, error, refetch } = useRead<Readonly<Record<string, readonly R[]>>>(path, options);
  return { rows: data?.[name], error, refetch, first: data };
}

/** Rows that GET answers page by page, the later pages when they are asked for. */
export function usePages<R>(path: string, name: string, options: ReadOptions = {}): Rows<R> {
  const pages = useInfiniteQuery({
    queryKey: [path],
    queryFn: ({ pageParam, signal }) =>
      request<{ nextCursor: string | null; [name: string]: unknown }>(
        'GET',
        withQuery(path, { cursor: pageParam }),
        undefined,
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: (former) => former,
    // A user who has gone back in time stays there.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : (options.everyMs ?? false)),
  });
  const { data, error, refetch, isFetching, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } =
    pages;
  const rows = useMemo(() => data?.pages.flatMap((page) => page[name] as readonly R[]), [data, name]);
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

/** What is kept of these paths, and of all below them, is asked for again. */
export async function refresh(...paths: readonly string[]): Promise<void> {
  await queries.invalidateQueries({ predicate: ({ queryKey }) => isBelow(queryKey, paths) });
}

/** No view is asked for again sooner than this because of what happens in the gateway. */
const LEAST_MS = 2_000;
/** Refreshes take at most this part of the time: where answers take long, there are fewer of them. */
const MOST_SHARE = 0.2;

/**
 * As `refresh`, for news that may come many times a second: at most one refresh in `everyMs` for all of it, never two at
 * once. A list that was paged through stays as it is, and a hidden page asks once it is seen.
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

/** For what happens in the gateway, by any client. */
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
  /** The caller shows the error beside its field; otherwise it is said at the screen's edge. */
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
      if (options.showsError !== true) showToast(error.message, 'bad');
    },
  });
}
