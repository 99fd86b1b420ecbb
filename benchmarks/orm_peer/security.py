"""Who calls: dependencies that find the credential of the header, with its account."""

import hashlib
from typing import Annotated

from database import Session
from fastapi import Depends, Header, HTTPException
from models import ApiKey, Token
from sqlalchemy import func, or_, select
from sqlalchemy.orm import joinedload

Authorization = Annotated[str, Header()]


def _digest(authorization: str, scheme: str) -> bytes:
    sent, _, credential = authorization.partition(" ")
    return hashlib.sha256(credential.encode()).digest() if sent.lower() == scheme else b""


async def token(session: Session, authorization: Authorization = "") -> Token:
    query = (
        select(Token)
        .options(joinedload(Token.account))
        .where(Token.digest == _digest(authorization, "bearer"), Token.revoked_at.is_(None))
        .where(or_(Token.expires_at.is_(None), Token.expires_at > func.now()))
    )
    found = await session.scalar(query)
    if found is None:
        raise HTTPException(401, "Invalid token")
    if found.account.is_suspended:
        raise HTTPException(401, "Suspended account")
    return found


async def api_key(session: Session, authorization: Authorization = "") -> ApiKey:
    query = (
        select(ApiKey)
        .options(joinedload(ApiKey.seller))
        .where(ApiKey.digest == _digest(authorization, "basic"), ApiKey.revoked_at.is_(None))
    )
    found = await session.scalar(query)
    if found is None:
        raise HTTPException(401, "Chave inválida")
    if found.seller.is_suspended:
        raise HTTPException(401, "Conta suspensa")
    return found


Caller = Annotated[Token, Depends(token)]
Seller = Annotated[ApiKey, Depends(api_key)]
