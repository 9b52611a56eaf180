/**
 * The fields of requests in the form for n8n and other forms, by request. Packages contain only these values
 * (src/build/derived.ts).
 */
import type { TProperties } from 'typebox';
import {
  copyRequestFields as copy,
  deleteFields,
  listFields as list,
  moveFields as move,
  uploadQueryFields as upload,
  writeFields as write,
} from '../file-request.js';
import { type FormField, formFieldsIn } from '../form.js';
import { linkFields } from '../link.js';
import { descriptionOf } from '../schema.js';
import { newFields } from '../thing.js';

const REQUESTS = { copy, delete: deleteFields, link: newFields(linkFields), list, move, upload, write };
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
