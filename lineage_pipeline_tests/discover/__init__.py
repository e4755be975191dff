"""Discovery: files, templates, programs and schemas of folders, git revisions and remotes, hostile ones included."""
