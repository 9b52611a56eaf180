import {
  type IExecuteFunctions,
  type INodeExecutionData,
  type INodeType,
  type INodeTypeDescription,
  NodeConnectionTypes,
} from 'n8n-workflow';
import { getConnections } from './connections.js';
import { itemError, outputOf } from './errors.js';
import { perform } from './operations.js';
import { PROPERTIES } from './properties.js';

export class FileTransferGateway implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'File Transfer Gateway',
    name: 'fileTransferGateway',
    icon: 'file:file-transfer-gateway.svg',
    group: ['output'],
    version: 1,
    subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
    description: 'Move files on SFTP, FTP and S3 servers',
    defaults: { name: 'File Transfer Gateway' },
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    usableAsTool: true,
    credentials: [{ name: 'fileTransferGatewayApi', required: true }],
    properties: PROPERTIES,
  };

  methods = { loadOptions: { getConnections } };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const results: INodeExecutionData[] = [];
    for (let item = 0; item < this.getInputData().length; item++) {
      try {
        for (const { json, binary } of await perform(this, item)) {
          results.push({ json, ...(binary === undefined ? {} : { binary }), pairedItem: { item } });
        }
      } catch (thrown) {
        const error = itemError(this.getNode(), thrown, item);
        if (!this.continueOnFail()) throw error;
        results.push({ json: outputOf(error), error, pairedItem: { item } });
      }
    }
    return [results];
  }
}
