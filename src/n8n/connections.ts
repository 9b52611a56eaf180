import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';
import type { Connection } from '../client/types.js';
import { call } from './request.js';

/** The connections that the API key may use, for the lists of both nodes. */
export async function getConnections(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
  type Connections = { readonly connections: readonly Connection[] };
  const { connections } = await call<Connections>(this, { method: 'GET', path: ['connections'] });
  return connections.map(({ id, name, type, isActive }) => ({
    name: isActive ? name : `${name} (switched off)`,
    value: id,
    description: `${type.toUpperCase()}, ${id}`,
  }));
}
