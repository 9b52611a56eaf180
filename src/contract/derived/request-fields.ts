/**
 * The fields of requests in the form for n8n and other forms, by request. Packages contain only these values
 * (src/build/derived.ts).
 */
import type { TProperties } from 'typebox';
import { fileRequests } from '../file-request.js';
import { type FormField, formFieldsIn } from '../form.js';
import { linkFields } from '../link.js';
import { descriptionOf } from '../schema.js';
import { newFields } from '../thing.js';

const REQUESTS = { ...fileRequests, link: newFields(linkFields) };
export type Requests = typeof REQUESTS;

export interface RequestField extends FormField {
  readonly description: string;
}

const fieldsOf = (request: TProperties): object =>
  Object.fromEntries(
    Object.entries(request).map(([name, schema]) => {
      const usual = 'default' in schema ? schema.default : undefined;
      return [name, { ...formFieldsIn(name, schema, { default: usual })[0], description: descriptionOf(schema) }];
    }),
  );

export const requestFields = Object.fromEntries(
  Object.entries(REQUESTS).map(([name, request]) => [name, fieldsOf(request)]),
) as { readonly [R in keyof Requests]: Readonly<Record<keyof Requests[R], RequestField>> };
