/**
 * The form of the node: the parameters of each operation. Requests are defined by the contract; the texts follow n8n.
 */
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { type RequestField, type Requests, requestFields } from '../contract/derived/request-fields.js';
import type { FormField } from '../contract/form.js';

type Show = Readonly<Record<string, readonly string[]>>;

const shown = (show: Show, property: INodeProperties): INodeProperties => ({ ...property, displayOptions: { show } });
const file = (...operation: readonly string[]): Show => ({ resource: ['file'], operation });
const folder = (...operation: readonly string[]): Show => ({ resource: ['folder'], operation });
const link = (...operation: readonly string[]): Show => ({ resource: ['link'], operation });

function operations(resource: string, initial: string, options: readonly INodePropertyOptions[]): INodeProperties {
  const property = {
    displayName: 'Operation',
    name: 'operation',
    type: 'options',
    noDataExpression: true,
    default: initial,
    options,
  } as const;
  return shown({ resource: [resource] }, property);
}

const text = (displayName: string, name: string, others: Partial<INodeProperties> = {}): INodeProperties => ({
  displayName,
  name,
  type: 'string',
  default: '',
  ...others,
});

const TYPES: Partial<Record<FormField['input'], INodeProperties['type']>> = {
  flag: 'boolean',
  number: 'number',
  choice: 'options',
};

type Texts = Partial<INodeProperties>;

/** A field of a request, with the same name. */
function propertyOf(field: RequestField, texts: Texts = {}): INodeProperties {
  const { name, input, minimum = 0, choices, default: usual, description } = field;
  const type = TYPES[input] ?? 'string';
  const empty = { boolean: false, number: minimum, options: choices?.at(-1) }[String(type)] ?? '';
  return {
    displayName: titleOf(name),
    name,
    type,
    default: usual ?? empty,
    description,
    ...(type === 'number' ? { typeOptions: { minValue: minimum } } : {}),
    ...(choices === undefined ? {} : { options: choices.map(optionOf).reverse() }),
    ...texts,
  };
}

/** The fields of a request in the order of their names, with these texts, and without those that the form asks for. */
function fields<R extends keyof Requests, N extends keyof Requests[R] & string>(
  request: R,
  without: readonly N[],
  texts: { readonly [Name in keyof Requests[R]]?: Texts },
): readonly INodeProperties[] {
  const left: readonly string[] = without;
  const said = new Map(Object.entries<Texts | undefined>(texts));
  return Object.values<RequestField>(requestFields[request])
    .filter(({ name }) => !left.includes(name))
    .map((field) => propertyOf(field, said.get(field.name)))
    .sort((one, other) => (one.displayName < other.displayName ? -1 : 1));
}

/** `Max Bytes` for `maxBytes`. */
const titleOf = (name: string): string =>
  name.replace(/_?([A-Z]|(?<=_)[a-z])/g, (_, letter: string) => ` ${letter.toUpperCase()}`).replace(/^./, upper);
const upper = (letter: string): string => letter.toUpperCase();
const optionOf = (value: string): INodePropertyOptions => ({ name: value[0]?.toUpperCase() + value.slice(1), value });

const options = (show: Show, list: readonly INodeProperties[]): INodeProperties =>
  shown(show, {
    displayName: 'Options',
    name: 'options',
    type: 'collection',
    placeholder: 'Add option',
    default: {},
    options: list,
  });

const connection = (displayName: string, name: string): INodeProperties => ({
  displayName,
  name,
  type: 'options',
  required: true,
  default: '',
  typeOptions: { loadOptionsMethod: 'getConnections' },
  description:
    'Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>',
});

const path = text('Path', 'path', { required: true, placeholder: '/inbox/report.pdf' });
const overwrite = { description: 'Whether to replace a file of this name' };
const template = {
  displayName: 'File Name Template',
  placeholder: '{date}-{filename}',
  description: 'How to name the file at its destination',
};
const mtime = { displayName: 'Modified At', placeholder: '2026-01-31T12:00:00Z' };
const binary = text('Binary Field', 'binaryPropertyName', { required: true, default: 'data' });

export const PROPERTIES: INodeProperties[] = [
  {
    displayName: 'Resource',
    name: 'resource',
    type: 'options',
    noDataExpression: true,
    default: 'file',
    options: [
      { name: 'File', value: 'file' },
      { name: 'Folder', value: 'folder' },
      { name: 'Link', value: 'link' },
    ],
  },
  operations('file', 'upload', [
    { name: 'Append', value: 'append', action: 'Append text to a file', description: 'Add text to the end of a file' },
    { name: 'Copy', value: 'copy', action: 'Copy a file', description: 'Copy a file, to another server too' },
    { name: 'Delete', value: 'delete', action: 'Delete a file' },
    { name: 'Download', value: 'download', action: 'Download a file', description: 'Get a file as binary data' },
    { name: 'Exists', value: 'exists', action: 'Check if a file exists', description: 'Check if a path exists' },
    { name: 'Move', value: 'move', action: 'Move a file', description: 'Move or rename a file or a folder' },
    { name: 'Read', value: 'read', action: 'Read a text file', description: 'Get a small file as text' },
    { name: 'Upload', value: 'upload', action: 'Upload a file', description: 'Store binary data as a file' },
    { name: 'Write', value: 'write', action: 'Write a text file', description: 'Create or replace a file with text' },
  ]),
  operations('folder', 'list', [
    { name: 'Create', value: 'create', action: 'Create a folder' },
    { name: 'Delete', value: 'delete', action: 'Delete a folder' },
    { name: 'List', value: 'list', action: 'List a folder', description: 'Get an item for each file and folder in it' },
  ]),
  operations('link', 'create', [
    {
      name: 'Create',
      value: 'create',
      action: 'Create a link',
      description: 'Make a URL that needs no key and uploads or downloads one thing',
    },
  ]),
  connection('Connection Name or ID', 'connectionId'),

  shown(file('append', 'copy', 'delete', 'download', 'exists', 'move', 'read', 'write'), path),
  shown(folder('create', 'delete'), { ...path, placeholder: '/inbox' }),
  shown(
    folder('list'),
    text('Path', 'path', { placeholder: '/inbox', description: 'Empty = the default path of the connection' }),
  ),
  shown(file('append', 'write'), text('Content', 'content', { typeOptions: { rows: 4 } })),
  shown(file('move'), text('Destination', 'destination', { required: true, placeholder: '/done/report.pdf' })),
  options(file('move'), fields('move', ['from', 'rawName', 'to'], { overwrite })),
  options(file('write'), fields('write', ['path', 'content', 'encoding'], { mtime })),

  shown(file('copy'), connection('Destination Connection Name or ID', 'destinationConnectionId')),
  shown(
    file('copy'),
    text('Destination', 'destination', {
      placeholder: '/archive/report.pdf',
      description: 'Path of the copy; empty = the path of the file',
    }),
  ),
  shown(
    file('upload'),
    text('Folder', 'folder', {
      placeholder: '/inbox',
      description: 'Where the file goes; empty = the default path of the connection',
    }),
  ),
  shown(file('upload', 'download'), {
    ...binary,
    hint: 'The name of the field of the item that holds the binary data',
  }),
  shown(
    file('upload'),
    text('File Name', 'fileName', { placeholder: 'report.pdf', description: 'Empty = the name of the binary data' }),
  ),
  options(file('upload'), fields('upload', ['path', 'filename'], { filename_template: template, overwrite, mtime })),
  options(
    file('copy'),
    fields('copy', ['source_connection_id', 'source_path', 'source_raw_name', 'dest_connection_id', 'dest_path'], {
      filename_template: template,
      overwrite,
      mtime,
    }),
  ),

  options(
    folder('delete'),
    fields('delete', ['path', 'rawName'], {
      recursive: { description: 'Whether to delete everything in the folder, too' },
    }),
  ),
  shown(folder('list'), {
    displayName: 'Return All',
    name: 'returnAll',
    type: 'boolean',
    default: false,
    description: 'Whether to return all results or only up to a given limit',
  }),
  {
    displayName: 'Limit',
    name: 'limit',
    type: 'number',
    typeOptions: { minValue: 1 },
    default: 50,
    description: 'Max number of results to return',
    displayOptions: { show: { ...folder('list'), returnAll: [false] } },
  },
  options(
    folder('list'),
    fields('list', ['path', 'rawName', 'limit', 'cursor'], {
      pattern: { placeholder: '*.csv', description: 'Only what matches this glob' },
      recursive: { description: 'Whether to list the folders below, too' },
    }),
  ),

  shown(link('create'), propertyOf(requestFields.link.operation, { displayName: 'Link For', name: 'linkOperation' })),
  shown(link('create'), {
    ...path,
    description: 'The file to download, or the folder to upload to',
  }),
  shown(link('create'), {
    displayName: 'Valid for (Hours)',
    name: 'validHours',
    type: 'number',
    typeOptions: { minValue: 1 },
    default: 24,
  }),
  options(
    link('create'),
    fields('link', ['operation', 'expiresAt'], {
      digest: { displayName: 'SHA-256', placeholder: 'sha-256:' },
      filename: { displayName: 'File Name', description: 'The name of the file, for any name that its sender gives' },
      folders: { displayName: 'Takes Folders', description: 'Whether senders may name folders below the folder' },
      maxBytes: { default: 104857600, description: 'The most bytes of one file' },
      maxUses: { default: 1, description: 'How often the link may be used' },
      note: { description: 'What it is for, shown on its page' },
      overwrite,
    }),
  ),
];
