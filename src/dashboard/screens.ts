/** The addresses of the dashboard's screens: its own router and the gateway's answer these and no others. */
export const SCREENS = {
  overview: '/',
  connections: '/connections',
  newConnection: '/connections/new',
  connection: '/connections/:id',
  watchedFolders: '/watched',
  watchedFolder: '/watched/:id',
  keys: '/keys',
  transfers: '/transfers',
  transfer: '/transfers/:id',
  files: '/files',
  filesOf: '/files/:id',
  usage: '/usage',
  pools: '/pools',
  audit: '/audit',
  settings: '/settings',
  login: '/login',
} as const;
