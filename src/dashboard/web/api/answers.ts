/** The types of the gateway's answers, by method and address: a literal one, or a template with values in its segments. */
import type { components as FileApi } from '../../../client/api-types.ts';
import type { components as ManagementApi } from '../../../client/management-types.ts';
import type { Connection } from './types.ts';

type Stated = ManagementApi['answers'] & FileApi['answers'];
/** Answers with a connection have it in the form of all types at once. */
type Answers = {
  [K in keyof Stated]: Stated[K] extends ManagementApi['schemas']['ManagedConnection']
    ? Connection
    : Stated[K] extends { readonly connections: readonly ManagementApi['schemas']['ManagedConnection'][] }
      ? { readonly connections: readonly Connection[] }
      : Stated[K];
};

export type WithoutQuery<A extends string> = A extends `${infer Path}?${string}` ? Path : A;
type Segment<S extends string> = string extends S ? '{}' : S;
type Segments<A extends string> = A extends `${infer First}/${infer Rest}`
  ? `${Segment<First>}/${Segments<Rest>}`
  : Segment<A>;

/** Unknown if no operation has this address. */
export type AnswerOf<M extends string, A extends string> = `${M} ${Segments<WithoutQuery<A>>}` extends infer K
  ? K extends keyof Answers
    ? Answers[K]
    : unknown
  : never;

/** The rows of an answer's field. */
export type RowOf<A extends string, N extends string> =
  AnswerOf<'GET', A> extends Readonly<Record<N, readonly (infer R)[]>> ? R : unknown;
