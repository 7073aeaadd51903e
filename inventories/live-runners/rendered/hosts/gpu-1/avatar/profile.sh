# Written by fleetc: change the spec, not this file.
# The command line of the avatar stack takes these from the environment of whoever runs it, and from no file.
export AVATAR_CLI_AUTO_UPGRADE_WHEN_SLEEPING="0"
export AVATAR_CLI_NO_AUTO_UPDATE="1"
export AVATAR_CLUSTER_FILE="/opt/fleetc/current/avatar/cluster.json"
