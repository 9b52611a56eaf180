-- Whether connections of this account may lead to private addresses; null = as network.connections.allowPrivate says.
alter table accounts add column allow_private boolean;
