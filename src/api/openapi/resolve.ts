/** Parts of a document behind their references. */
import type { OpenApiDocument, Operation, Parameter, Response } from './types.js';

export function parametersOf({ components }: OpenApiDocument, { parameters = [] }: Operation): readonly Parameter[] {
  return parameters.map((parameter) =>
    '$ref' in parameter ? found(components.parameters, parameter.$ref) : parameter,
  );
}

/** A description beside a reference stands over that of what it refers to (OpenAPI 3.1, 4.8.23). */
export function responsesOf(
  { components }: OpenApiDocument,
  { responses }: Operation,
): readonly (readonly [status: string, response: Response])[] {
  return Object.entries(responses).map(([status, response]) => {
    if (!('$ref' in response)) return [status, response];
    const shared = found(components.responses, response.$ref);
    return [status, { ...shared, description: response.description ?? shared.description }];
  });
}

export function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function found<T>(parts: Readonly<Record<string, T>>, reference: string): T {
  const part = parts[nameIn(reference)];
  if (part === undefined) throw new Error(`nothing stands at ${reference}`);
  return part;
}
