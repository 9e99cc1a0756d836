#!/bin/sh
# Writes the templates of templates/ as C, so that they are part of the library:
#     scripts/shipped-templates.sh >src/feature/shipped_templates.inc
set -eu
echo '/* Made by scripts/shipped-templates.sh from templates/: do not edit. */'
for file in templates/*; do
    printf '{"%s",\n' "$(basename "$file")"
    sed -e 's/\\/\\\\/g; s/"/\\"/g; s/^/ "/; s/$/\\n"/' "$file"
    echo '},'
done
