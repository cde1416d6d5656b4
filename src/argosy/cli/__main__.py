from argosy.cli import main

main()
