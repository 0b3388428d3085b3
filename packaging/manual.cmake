# Writes the manual of PROGRAM to OUTPUT, from the output of --help. DOC_DIR is the directory of the documents.
execute_process(COMMAND "${PROGRAM}" --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
# Escapes for roff: a backslash, a hyphen, and a dot or an apostrophe at the start of a line.
string(REPLACE "\\" "\\e" help "${help}")
string(REPLACE "-" "\\-" help "${help}")
string(REGEX REPLACE "\n([.'])" "\n\\\\&\\1" help "${help}")
string(REPLACE "-" "\\-" name "${NAME}")
string(REPLACE "-" "\\-" title "${TITLE}")
string(TOUPPER "${NAME}" heading)
file(WRITE "${OUTPUT}"
".TH ${heading} ${SECTION} \"\" \"Armature ${VERSION}\"
.SH NAME
${name} \\- ${title}
.SH DESCRIPTION
.nf
${help}.fi
.SH SEE ALSO
armature(1), armatured(8), armature\\-bench(1); the documents in ${DOC_DIR}: operate/README.md, reference/flags.md
")
