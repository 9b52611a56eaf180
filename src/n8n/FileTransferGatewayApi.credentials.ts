import type { ICredentialType } from 'n8n-workflow';

// n8n takes the name of the class from that of the file.
export class FileTransferGatewayApi implements ICredentialType {
  name = 'fileTransferGatewayApi';
  displayName = 'File Transfer Gateway API';
  icon = 'file:file-transfer-gateway.svg' as const;
  properties: ICredentialType['properties'] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://files.example.com',
      description: 'Address of the gateway, as n8n reaches it',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'A key with the scopes that the workflow needs: read, write, and watch for the trigger',
    },
  ];
  authenticate: ICredentialType['authenticate'] = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };
  test: ICredentialType['test'] = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}', url: '/api/me' },
  };
}
